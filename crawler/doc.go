// Package crawler runs a crawl within a Go program, and gives each page to a function.
//
//	Config -> Run: engine.Open, Engine.Run -> Options.Page, once for each page
//
// The settings are those of the program, with its defaults: delays between requests, robots.txt, no connection to
// private addresses. The directory is one of the program, too: orbweaver reads it, resumes it, and checks it.
//
// The module is called orbweaver until it has a public address. Another module uses a copy of it:
//
//	go mod edit -require orbweaver@v0.0.0 -replace orbweaver=../orbweaver
//	go mod tidy
package crawler
