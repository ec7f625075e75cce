//! The dialects of all vendors of language models, by provider.

use searchwright_outbound::Guarded;

use super::{
    Credentials, Provider, anthropic,
    error::{ProviderError, Why},
    gemini,
    language::{ChatModel, Finish, chat::ChatDialect, stream},
    openai,
};

/// Returns the dialect of a provider; `None` if it has no language models.
const fn find(provider: Provider) -> Option<&'static ChatDialect> {
    match provider {
        Provider::OpenAi => Some(&openai::DIALECT),
        Provider::Anthropic => Some(&anthropic::DIALECT),
        Provider::Gemini => Some(&gemini::DIALECT),
        _ => None,
    }
}

/// Creates the language model of an account.
pub fn chat_model(
    client: Guarded,
    provider: Provider,
    account: &Credentials,
) -> Result<ChatModel, ProviderError> {
    let dialect = find(provider).ok_or_else(|| ProviderError::refused(Why::Unsupported))?;
    ChatModel::new(client, dialect, account)
}

/// Reads a recorded stream of a vendor as a live one is read, and gives its text, and how it ended if it says so. `None` for
/// events that the vendor does not promise, and for what is no model.
pub fn replay<'p>(
    provider: Provider,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Option<(String, Option<Finish>)> {
    let seen = stream::replay(find(provider)?.read, pieces)?;
    Some((seen.text, seen.finish))
}
