// Package gateway tells an answer that a proxy or another gateway gave in place of a server from the server's own. It
// needs evidence that only a gateway gives, or that a server gives to its own harm alone. See
// docs/adr/0063-the-way-is-not-the-server.md.
package gateway
