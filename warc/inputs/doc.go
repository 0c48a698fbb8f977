// Package inputs finds the files of an archive that a command reads: WARC and ARC files by name, those in directories,
// and standard input. What lies there and is not read is named, since a file that is left out silently looks like an
// archive without its captures.
package inputs
