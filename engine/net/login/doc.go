// Package login holds names and passwords of hosts, for basic authentication (RFC 7617). They come from a file in the
// form of netrc, which curl and wget read, too.
//
// A password goes to a site (scheme, host and port), never to a host at whatever port: another server may listen there,
// or a link or a redirect may lead from HTTPS to plain HTTP. The sites of "machine HOST" are https://HOST, and those of
// the seeds with this host: the operator named them. "machine http://HOST:PORT" names a site itself. A site that was
// not named gets the password only with a valid certificate, also under --tls tolerant. Passwords are not in the
// request records of the archive.
//
//	Read, AddSeed for each seed (filter.Seeds.Watch) -> Line for each request
package login
