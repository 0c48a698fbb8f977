// Package overlay shows a file system and changes nothing in it, so that a component can be opened at its checkpoint
// and read. engine/fsck and engine/evidence read crawl directories through it.
package overlay
