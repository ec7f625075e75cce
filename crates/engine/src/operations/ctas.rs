//! Calls to action: see `items.rs`.

super::items::handle_items!(ctas::Cta by cta_id: ListCtas CreateCtas GetCta UpdateCta DeleteCta);
