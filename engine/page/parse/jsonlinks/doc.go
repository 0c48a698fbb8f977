// Package jsonlinks finds the URLs of JSON files whose members have a meaning: manifests of web applications
// (www.w3.org/TR/appmanifest) and JSON Feed (jsonfeed.org). Other JSON is data: see engine/page/parse/script.
//
// It resolves nothing and fetches nothing. References are relative to the file.
//
// # Limits
//
// A manifest has at most manifestMost bytes. Longer ones have no links. Reading of a feed ends at the first fault, and
// after feedMost bytes.
//
// # Promises
//
// No input causes a panic. Time is linear in the length of the file. A feed is read item by item, so memory is bounded
// by its longest item.
package jsonlinks
