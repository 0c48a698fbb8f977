// Package rewrite copies the records of WARC and ARC files into a new WARC file, each as a member of its own, so that
// an index can give its place. It is behind warc repair and warc recompress.
//
//	files --warc.Reader--> record, read to its end --member.Packer--> vfs.WriteAtomic: NAME.tmp, synced, renamed
//	                       | damaged: OnFault, and nothing of it is written
//
// Type, fields and block of a record stay as they are. Lines of its header end with CRLF, folded ones are joined, and
// lines that are no fields are left out. A record of an ARC file gets the fields that a WARC record of it would have,
// and an identity made from its place and its header: the same file gives the same records.
//
// The new file must not exist, so no input is ever overwritten. Its final name has all of it, or does not exist. Memory
// is that of a Reader and of 1 MiB of a compressed record: what is longer goes to a file NAME.record.tmp.
package rewrite
