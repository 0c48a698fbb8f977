// Package records is a chapter of the engine, without code of its own: it is what the archive knows about a page: its
// capture, its earlier answers, and which payloads are stored already.
//
//	capture  the facts of a record, and the index of the earlier answers of a URL, for a recrawl
//	dedup    digests of stored payloads, on disk: a response or a revisit
//	neardup  pages whose text is nearly the same
//
//	parsers.recordBuilder.plan -> dedup.Map.Lookup
//
// Promises: Y1 to Y4 (dedup, capture).
package records
