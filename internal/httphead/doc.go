// Package httphead reads the head of an HTTP response as browsers do: the status line and the fields. Fetching and
// reading from an archive use the same functions, so that a stored response means what it meant when it came.
//
//   - The status line begins within the first five bytes. What precedes it, such as a byte order mark, is ignored.
//   - Its version may be missing, and counts as 1.0. Its status must be there: a number of at most three digits.
//   - ICY counts as HTTP.
//   - Lines end in LF, CRLF or a bare CR. Only LF and CRLF make the empty line that ends a head.
//   - A line without a colon or a name is ignored. Blanks around a name or a value do not belong to it.
//   - A line that begins with a blank continues the line before it.
//
// HTTP/0.9, which has no head, is not read: Start finds no status line. Chromium and Firefox show such a response only
// if it comes from the standard port, curl does not, and RFC 9112 has dropped it.
//
// The functions change nothing and, except for folded lines, allocate nothing: the results are parts of the arguments.
package httphead
