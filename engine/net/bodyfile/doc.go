// Package bodyfile keeps the bodies that are too long for memory in files, on their way from a server to the archive.
//
//   - Store has the files of a crawl, in one directory, and bounds their number and size.
//   - File is the rest of one body. A fetch worker writes it, and a parse worker reads it.
//   - Scratch is where a parse worker puts the middle of a compressed record, before the record goes to the archive.
//
// A body file belongs to its Page and is removed with it. No checkpoint or journal names a body file: after a kill its
// URL is in flight, and is fetched again. So files are never synced, and Open removes what a killed run has left.
//
// # Limits
//
// All files together take at most Most.Bytes, or a third of the disk space that they and the free space make up,
// if that is less. A File beyond that waits until others are removed, or until its exchange must end. Then the body is
// truncated. The file that was begun first may exceed it while no finished file waits for a parse worker. So one
// body always goes on, and the sum is at most Most.Bytes and one body. Scratches are outside of this limit, because a
// parse worker that waited for room would keep the room of others. There is one for each parse worker.
//
// A Store remembers the domains whose bodies have no end, with the address, in a file. Such a source costs one body of
// the limit. After that, its bodies of undeclared length are kept as far as they fit into memory.
//
// A full disk makes a write wait, as it makes the whole crawl wait (Options.Wait). Any other error of the disk ends the
// exchange, as if it had not begun, and then the crawl.
//
// # Ownership and concurrency
//
// A Store is safe for concurrent use. A File or Scratch belongs to one goroutine at a time. Write borrows its bytes.
// The package starts no goroutine. The bytes of a File have a checksum, which is compared when all are read in order.
package bodyfile
