// Package textfile reads text that people write: lists of seeds, rules, cookies and passwords. It takes what editors
// and spreadsheets of all systems make: UTF-8 and UTF-16, with and without a byte order mark, and each kind of line
// end. A line that is not UTF-8 is read as Windows-1252, which includes Latin-1.
//
//	Read -> decoder.Read: UTF-8 -> Lines.Scan
package textfile
