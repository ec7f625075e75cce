//! Competitors: see `items.rs`.

super::items::handle_items!(competitors::Competitor by competitor_id: ListCompetitors CreateCompetitors GetCompetitor UpdateCompetitor DeleteCompetitor);
