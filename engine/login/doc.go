// Package login holds names and passwords of hosts, for basic authentication (RFC 7617). They come from a file in the
// form of netrc, which curl and wget read, too. A password goes to its host alone, also after a redirect, and is not in
// the request records of the archive.
package login
