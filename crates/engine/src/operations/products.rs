//! Products: see `items.rs`.

super::items::handle_items!(products::Product by product_id: ListProducts CreateProducts GetProduct UpdateProduct DeleteProduct);
