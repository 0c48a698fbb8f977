// Package dnsrecords stores the answers of name servers in the archive, as Heritrix does.
//
//   - Source resolves a name for the resolver loop; it is the only thing the loop needs to know.
//   - Recorder resolves, and stores each answer as a record of type "response" with a dns: URI. It is used by several
//     goroutines, and writes one record at a time.
//   - Unrecorded is the null implementation: it resolves and stores nothing.
//
// No journal entry names these records. A resume keeps those before the last record that an entry names, and resolves
// the names of the other sites again.
package dnsrecords
