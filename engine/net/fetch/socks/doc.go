// Package socks speaks SOCKS5 to a proxy (RFC 1928), with a name and a password if the proxy wants them (RFC 1929). It
// gives the proxy addresses only: names are resolved elsewhere.
package socks
