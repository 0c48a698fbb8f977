// Package fetch makes one exchange on one connection into one Page: it connects, asks, and keeps what comes back, byte for
// byte, within limits.
package fetch
