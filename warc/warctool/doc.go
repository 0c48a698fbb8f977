// Package warctool is what `orbweaver warc ls, cat, verify, index` do, without the flags: functions that read WARC
// files, of this or any other crawler, and write what they found as text or as JSON.
//
// It is not a place for knowledge of the format, which is package warc's, and it decides no exit status: a function
// that could do its work but met faults returns an error that wraps ErrFaults; one that could not, another error.
//
// Text and JSON go to Tool.Out; faults go to Tool.Err, one line each. JSON is one object a line, so that long lists
// need no memory. What a file says is written so that no byte of it can steer a terminal or add a line.
//
// Rewrite copies the records of WARC and ARC files into a new WARC file, each as a member of its own, so that an index
// can give its place. It is behind warc repair and warc recompress.
//
//	files --warc.Reader--> record, read to its end --member.Packer--> vfs.WriteAtomic: NAME.tmp, synced, renamed
//	                       | damaged: OnFault, and nothing of it is written
//
// Type, fields and block of a record stay as they are. Lines of its header end with CRLF, folded ones are joined, and
// lines that are no fields are left out. A record of an ARC file gets the fields that a WARC record of it would have,
// and an identity made from its place and its header: the same file gives the same records. The new file must not
// exist, so no input is ever overwritten. Its final name has all of it, or does not exist. What is longer than 1 MiB of
// a compressed record goes to a file NAME.record.tmp.
//
// Memory: a reader's (see warc.Reader) and, for index and verify, the index lines or the identities of one run.
package warctool
