// Package underway is the table of the exchanges that are under way: which worker asks which server for which URL, and
// since when. It answers what a crawl waits for.
//
// The reader of a response counts its bytes as they come (Progress).
//
// Each fetch worker has a slot of its own, and only this worker writes to it. Begin and End take no lock, wait for
// nothing and allocate nothing. A reader copies a slot and checks the sequence number of the slot before and after. If
// the worker has changed the slot meanwhile, the reader tries again, and after a few tries it leaves the slot out.
//
// # Costs
//
// A slot takes 384 bytes. A read of a response adds to one word of it. Begin writes one word for each eight bytes of
// the URL (BenchmarkSlot). A URL is kept up to 256 bytes; a longer one is truncated. Oldest and List read one word of
// each slot, and copy only slots in use.
package underway
