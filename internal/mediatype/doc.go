// Package mediatype finds out which media type a response has.
//
//   - Extract reads the fields Content-Type as the Fetch standard says (https://fetch.spec.whatwg.org, "extract a MIME
//     type"): the last valid type of all lines and of all parts between commas counts.
//   - Declared is Extract without unknown/unknown and application/unknown.
//   - Parse and Type.String read and write one media type (https://mimesniff.spec.whatwg.org, sections 4.4 and 4.5).
//   - Hint reads a type that is not valid.
//   - Split takes a type and its charset out of what Extract returns, without allocation.
//
// The usual field has one line with one valid type. Extract returns that line as it is, and allocates nothing. A
// response without a valid type has none: its bytes tell.
package mediatype
