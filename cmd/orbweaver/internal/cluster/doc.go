// Package cluster holds the commands about agents that share a crawl: ca makes their certificates, ring shows which
// agent owns a host.
package cluster
