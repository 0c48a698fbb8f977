// Package warctool is what `orbweaver warc ls, cat, verify, index` do, without the flags: functions that read WARC
// files, of this or any other crawler, and write what they found as text or as JSON.
//
// It is not a place for knowledge of the format, which is package warc's, and it decides no exit status: a function
// that could do its work but met faults returns an error that wraps ErrFaults; one that could not, another error.
//
// Text and JSON go to Tool.Out; faults go to Tool.Err, one line each. JSON is one object a line, so that long lists
// need no memory. What a file says is written so that no byte of it can steer a terminal or add a line.
//
// Memory: a reader's (see warc.Reader) and, for index and verify, the index lines or the identities of one run.
package warctool
