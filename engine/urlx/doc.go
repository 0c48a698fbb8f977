// Package urlx makes normal forms of URLs: bytes in, bytes out.
package urlx
