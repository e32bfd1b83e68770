//! Discovery of API operations from OpenAPI and GraphQL descriptions, and of tools from their definitions.
//!
//! A description is parsed into plain structs ([`Api`], [`Operation`], [`model::Shape`]) that are the same for every
//! format: OpenAPI 3, Swagger 2.0, GraphQL SDL, GraphQL introspection results, and lists of tools as MCP servers
//! return them. An invalid part is reported as a problem and does not affect the rest. Each operation becomes one
//! record of a search index; four tools let a language model list, search and inspect operations.
//!
//! ```
//! use std::sync::Arc;
//!
//! use prospector_api::ApiDiscovery;
//! use prospector_search::Index;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (shop, problems) = ApiDiscovery::from_text(
//!     "shop",
//!     r##"
//! openapi: 3.0.3
//! info: {title: Shop, version: "1"}
//! paths:
//!   /orders/{id}:
//!     get:
//!       operationId: getOrder
//!       summary: One order with its lines
//!       parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
//!       responses:
//!         "200":
//!           description: The order
//!           content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}
//! components:
//!   schemas:
//!     Order:
//!       properties:
//!         id: {type: integer}
//!         lines: {type: array, items: {type: object, properties: {sku: {type: string}}}}
//! "##,
//! );
//! assert!(problems.is_empty());
//!
//! let shop = Arc::new(shop);
//! let index = Index::in_memory(shop.records(), None).unwrap();
//! let tools = shop.tools(&index);
//!
//! let details = tools.call("get_operation_details", json!({"api": "shop", "operation": "GET /orders/{id}"})).await;
//! assert_eq!(
//!     details.unwrap().into_json(),
//!     json!({
//!         "api": "shop", "operation": "getOrder", "type": "rest", "method": "GET", "path": "/orders/{id}",
//!         "access": "reads", "description": "One order with its lines",
//!         "parameters": [{"name": "id", "location": "path", "type": "integer", "required": true}],
//!         "response_schema": {"id": "integer", "lines": [{"sku": "string"}]},
//!         "example": {"operation": "shop.getOrder", "arguments": {"id": 1}}
//!     })
//! );
//! # }
//! ```
//!
//! [`invoke`] builds the call of an operation that the catalog allows; an [`invoke::Caller`] sends it. Tools in a list
//! without a server are described but never called.
//!
//! This crate has no network access: it neither sends calls nor fetches descriptions. The index is supplied by the
//! caller.

mod credentials;
mod details;
mod discovery;
mod document;
mod folder;
mod graphql;
mod identifier;
pub mod invoke;
mod library;
mod mcp;
pub mod model;
mod naming;
mod openapi;
mod prose;
mod render;
mod schema;
mod sdl;
mod shape;
mod source;
mod tool_list;
mod tools;

pub use discovery::ApiDiscovery;
pub use model::{Api, ApiKind, Operation};
pub use source::ApiSource;
