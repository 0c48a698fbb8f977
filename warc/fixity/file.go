package fixity

// File is what is known of a closed file of an archive.
type File struct {
	Name    string            // within the directory of the archive
	Bytes   int64             // its length
	SHA256  [32]byte          // of all its bytes, as they are stored
	Records map[string]uint64 // by WARC-Type
}

// Listener is told of the files of an archive.
//
// What a call of FileClosed promises:
//
//   - The file has its final name. Data, index and name are durable, and no byte changes while the Writer is open.
//   - The facts are those of the bytes that were written. They come from no second reading, except after a kill.
//   - A file is announced again with the same facts if this or another Listener returned an error. The Writer counts
//     the file as unfinished until then, and tries again. So an error must be one that can pass, as of a full disk.
//   - Files come in the order of their serials, unless one of them was returned with an error. Two calls never
//     overlap for one file, and can for different files. A call delays the finishing of other files, not the crawl.
//   - A kill between the final name and the call skips the call. A Listener that needs every file compares with the
//     directory when the archive is opened.
//
// A resume goes on at the last journaled page. A file that was closed after it is opened again, or removed.
// FileReopened is called before its first byte changes, whether FileClosed was called for the file or not. After an
// error of FileReopened the archive is not opened.
type Listener interface {
	FileClosed(f File) error
	FileReopened(name string) error
}
