// Package receipts keeps what says that a receiver has a WARC file, and knows which files are there alone, because they
// were removed here (--upload-then delete).
//
//	List.Write: a receipt is durable before its file counts as sent
//	Removed: files of a crawl that have a receipt of an object store and are not here
//	Over -> Disk.List, Disk.Size: such files are listed with their lengths
//	     -> Disk.Open: an *ElsewhereError says where the file is, and how to get it back
//	Disk.ReadRecords -> Disk.OpenRange -> objectFile: a part of the object, with one request (Objects.OpenObject)
//	Disk.ReadFiles   -> Disk.Open      -> objectFile: the whole object in order; its digest is that of the receipt
//
// All commands that walk over WARC files do so through a Disk. So a file with a receipt is never taken for lost, and
// its index, which stays here, is found. What must know the files that are really here asks the disk below.
package receipts
