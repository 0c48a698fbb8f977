// Package pdflinks finds the links of a PDF file (ISO 32000-1) that a person can click in a browser: URI actions, and
// actions that open another file (GoToR, Launch).
//
// It looks for objects from the start of the bytes to their end, as viewers do with a damaged file. It does not read
// the cross-reference table, so a table that is missing, wrong or cut off costs nothing. It draws nothing.
//
//	bytes --tokens--> dictionaries of objects --/S /URI /URI (...)--> links
//	                     |
//	                     +-- stream: skipped by its /Length, or by the keyword endstream if that is wrong
//	                     +-- stream of objects (/ObjStm): FlateDecode --tokens--> as above
//
// The types follow this order: lexer makes tokens; walker knows the nesting of dictionaries, and objects by number;
// unpacker reads object streams within a budget; collector keeps the links.
//
//   - If an object is defined more than once, its last definition counts (incremental updates).
//   - A string may have escapes, be hexadecimal, or be an object of its own. It is read as UTF-16 or UTF-8 if it begins
//     with a byte order mark, else as UTF-8 if it is valid UTF-8, else as ISO 8859-1.
//   - A reference that begins with "www." gets http://, as in browsers.
//   - Result.Base is /Base of the /URI dictionary in the catalogue.
//   - A file that is encrypted and opens without a password is read twice: the first time for its encryption dictionary
//     and its identifier (security.go), the second time with the key (decrypter.go). The links of one that needs a
//     password are not read. Result.IsEncrypted says so.
//
// Not found are URLs in the text of a page, links that scripts make, and what is in object streams with other filters
// than FlateDecode. A link that was deleted is found if the file still has it.
//
// # Promises
//
// No input causes a panic. Time is linear in the length of the file and the unpacked bytes. Object streams unpack to at
// most unpackMax bytes in all, and to unpackRatio times their size. Result.Unread counts the object streams that were
// not read whole. At most decryptedMost strings are decrypted. A Scanner keeps at most arenaMax bytes of links and
// keptMax bytes of unpacked objects. It allocates nothing in a file without links and object streams.
//
// # Ownership
//
// A Scanner belongs to one goroutine. It borrows the file for the call. The Result belongs to the Scanner and is valid
// until the next Scan.
package pdflinks
