// Package vfstest is the one suite that every vfs.FS passes: what the rooms rely on, told as short stories.
package vfstest
