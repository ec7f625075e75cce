//! Questions with answers: see `items.rs`.

super::items::handle_items!(faqs::Faq by faq_id: ListFaqs CreateFaqs GetFaq UpdateFaq DeleteFaq);
