//! Values that must not be stored: an answer or a recording that has one is not kept.

use recoup_core::secrets::SecretValues;

use super::agent_file::AgentFile;
use crate::app::App;
use crate::app::tools::secret_parts;
use crate::toolbox::ServerAddress;

/// Credentials of the environment, and those of all servers, REST tools and OpenAPI documents that
/// the agent and the agents that it refers to may use.
pub(crate) fn withheld_values(app: &App, agent: &AgentFile) -> SecretValues {
    let settings = &app.settings.agents;
    let (mut agents, mut servers) = (vec![agent], Vec::from_iter(&settings.servers));
    while let Some(agent) = agents.pop() {
        servers.extend(&agent.servers);
        agents.extend(agent.referred_agents());
    }
    let of_servers = servers.iter().map(|server| match &server.address {
        ServerAddress::Command { env, .. } => env,
        ServerAddress::Http { headers, .. } => headers,
    });
    let named = of_servers
        .chain(settings.rest_tools.iter().map(|tool| &tool.headers))
        .chain(settings.openapi.iter().map(|document| &document.headers));
    let values = named.flat_map(|named| named.values());
    let parts = values.flat_map(|value| secret_parts(value.as_bytes(), true));
    settings.credentials().and(SecretValues::of_values(parts))
}
