// Package overlay shows a file system and changes nothing in it, so that a component can be opened at its checkpoint
// and read. engine/check/fsck and engine/operate/explain read crawl directories through it.
package overlay
