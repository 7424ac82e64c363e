//! Opens the client of model APIs.

use std::sync::Arc;

use recoup_core::Result;

use super::App;
use crate::config::{ProviderDefinition, env};
use crate::llm::{Cassette, ModelClient, ProviderEndpoint};

impl App {
    /// A client of all configured providers. Opens and sends nothing.
    pub(crate) fn model_client(&self, cassette: Option<Arc<Cassette>>) -> Result<ModelClient> {
        let settings = &self.settings.agents;
        let endpoint = |provider: &ProviderDefinition| {
            let key = settings.api_key(provider)?;
            let ProviderDefinition { name, provider, url, key_env } = provider.clone();
            Ok(ProviderEndpoint { name, provider, url, key, key_env, proxy: env::proxy() })
        };
        let endpoints = settings.providers.iter().map(endpoint).collect::<Result<_>>()?;
        Ok(ModelClient::new(endpoints, cassette))
    }
}
