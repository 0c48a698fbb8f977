// Package receivers makes what takes closed WARC files from the flags of a crawl, and runs the command of
// --on-warc-close.
//
//	crawl, upload -> Start -> upload.Start
//	warc get, view -> Objects.OpenObject -> objectstore.Open: records of removed files
package receivers
