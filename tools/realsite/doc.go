// Command realsite crawls real sites on loopback and compares the archive with what the sites have. run.sh starts it
// inside a network namespace, with a directory of unpacked Debian packages as the root directory of all servers.
//
// There are two kinds of site:
//
//	documentation  files of a package behind nginx or Apache httpd. The truth is what wget finds, what a crawl
//	               with --novelty off finds and, for directory listings, the disk.
//	application    MediaWiki, DokuWiki, cgit and WordPress, each with its real database or files. The truth is what
//	               the application's own database knows as a page for readers.
//
// For each site it reports the pages for readers, how many are stored, how many are not, the requests and the waste. A
// lost page makes it fail, and so does any difference between the archive and the servers' logs. The first page of each
// site must be shown by orbweaver view with all its style sheets and images.
package main
