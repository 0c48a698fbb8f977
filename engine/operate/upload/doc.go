// Package upload gives each closed WARC file of a crawl, with its index, to receivers: an object store, and a command
// of the operator. A receipt on disk says that a receiver has a file. The archive directory is the queue: a closed file
// without a receipt waits. So the package keeps no other state, and a kill at any moment loses nothing.
//
// Promises:
//
//   - UL1: a receiver gets only bytes that never change again: files whose end the last durable checkpoint names. A
//     resume after a power cut truncates nothing before it.
//
//   - UL2: a receipt is durable before its file counts as sent, and a file without a receipt is sent again.
//
//   - UL3: a receipt of an object store is written only after a proof that the object has the bytes of the file.
//
//   - UL4: a receiver that fails costs the crawl nothing but disk: its files wait, one try at a time, ever more slowly.
//
//   - UL5: with --upload-then delete a file is removed only after all of this. Every receiver has it. Its receipt is
//     durable. The digest in the receipt is that of the manifest. The store has just confirmed the object and its
//     index. The last durable checkpoint names a later file, so that no resume needs this one.
//
//   - UL6: a file that is not what its line in the manifest says is neither sent nor removed.
//
// The chain of functions:
//
//	Start -> sender.run -> sender.scan: closed files without a receipt -> Receiver.Send -> receipts.List.Write
//	sender.run -> removal.removeSent -> removal.whyKept -> Confirmer.Confirm -> removal.unlink
//	Uploads.Finish: the crawl has ended; waits until nothing is left, or for a limited time
package upload
