// Package filename forms and reads the names of WARC files and of their indexes. Those of this program have a time and
// a serial number; any others are known by their suffixes. It opens no file.
//
//	PREFIX-TIMESTAMP17-SERIAL5-HOST.warc.gz.open ---> the same without .open, when it is complete; .cdxj beside it
package filename
