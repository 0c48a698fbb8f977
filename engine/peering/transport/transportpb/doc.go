// Package transportpb is the protocol between agents: transport.proto, and the code that make gen generates from it.
package transportpb
