//! What has been used: monthly quotas, and money spent at providers.

use crate::words::words;

words! {
    /// What is counted per month.
    Metric {
        /// Keywords that a generation added.
        KeywordsGenerated = "keywords_generated",
        /// Keywords whose figures a provider was asked for.
        KeywordMetrics = "keyword_metrics",
        /// Posts whose text was generated.
        PostsGenerated = "posts_generated",
        /// Posts made public.
        PostsPublished = "posts_published",
        /// Audits started; counted, never limited.
        Audits = "audits",
        /// Answers of AI engines asked for.
        AnswersTracked = "answers_tracked",
    }
}
