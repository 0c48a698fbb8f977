// Package receivers makes what takes closed WARC files from the flags of a crawl, and runs the command of
// --on-warc-close and the program of --hook.
//
//	crawl, upload -> Start -> upload.Start
//	crawl -> Hooks.Start: the program of --hook, in a process group of its own, or as a WebAssembly module in a goroutine
//	warc get, view -> Objects.OpenObject -> objectstore.Open: records of removed files
package receivers
