//! Operations of an OpenAPI document as tools of an agent.

use serde_json::json;

use super::AgentScene;
use crate::model_server::{ModelTurn, Server};

const SPEC: &str = r#"{"openapi": "3.1.0", "paths": {"/pets/{id}": {"get": {"operationId": "getPet",
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                   {"name": "fields", "in": "query", "schema": {"type": "array"}},
                   {"name": "page", "in": "query"}, {"name": "X-Trace", "in": "header"}]},
    "post": {"requestBody": {"content": {"application/json": {}}}}}}}"#;

fn scene(turns: Vec<ModelTurn>, more: &str, spec: &str) -> (AgentScene, Server) {
    let (scene, api) =
        (AgentScene::scripted(turns), Server::saying("200 OK", "", "Rex".to_owned()));
    let url = api.url();
    let config = format!("[openapi.pets]\nspec = 'pets.json'\nbase_url = '{url}/v1'\n{more}\n");
    std::fs::create_dir_all(scene.home.recoup()).unwrap();
    std::fs::write(scene.home.recoup().join("config.toml"), config).unwrap();
    scene.home.write("pets.json", spec);
    scene.agent("keeper.md", "tools: ['openapi:pets']\n", "You keep pets.");
    (scene, api)
}

#[test]
fn operations_are_called_with_what_is_given_and_cached_for_the_documents_ttl() {
    let call = json!({ "id": "a/b", "fields": ["name", "age"] });
    let turn = || ModelTurn::default().calling("rest__pets_getPet", call.clone());
    let post = || {
        ModelTurn::default()
            .calling("rest__pets_post_pets__id_", json!({ "id": "7", "body": { "name": "Rex" } }))
            .calling("rest__pets_getPet", json!({}))
    };
    let turns = vec![turn(), ModelTurn::text("1"), turn(), post(), post(), ModelTurn::text("2")];
    let more = "cache = '1h'\nincludeMethods = ['GET', 'POST']\nheaders = { X-Key = 'k' }";
    let (scene, api) = scene(turns, more, SPEC);
    scene.run(&["keeper.md", "go"]).expect(0);
    scene.run(&["keeper.md", "on", "--allow", "rest__pets_*"]).expect(0);
    let received = api.received();
    let [get, post, _] = &received[..] else { panic!("{received:?}") };
    let first = get.head.lines().next().unwrap();
    assert_eq!(first, "GET /v1/pets/a%2Fb?fields=name&fields=age HTTP/1.1");
    assert_eq!((get.header("x-key"), get.header("x-trace")), (Some("k"), None));
    assert!(post.head.starts_with("POST /v1/pets/7 "), "{post:?}");
    assert_eq!(post.json(), json!({ "name": "Rex" }));
    let told = scene.server.received().last().unwrap().body.clone();
    assert!(told.contains("the argument \\\"id\\\" is missing"), "{told}");
}

#[test]
fn a_document_that_cannot_be_used_is_told_before_anything_is_asked() {
    let (scene, _) = scene(Vec::new(), "", "{\"swagger\": \"2.0\"}");
    let said = scene.run(&["keeper.md", "go"]).expect(2).stderr;
    assert!(said.contains("pets.json: Swagger 2 is not supported"), "{said}");
    assert!(scene.server.received().is_empty());
}
