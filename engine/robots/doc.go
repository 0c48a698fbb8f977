// Package robots parses robots.txt and matches paths against it, by RFC 9309.
package robots
