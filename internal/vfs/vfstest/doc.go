// Package vfstest contains the tests that every vfs.FS passes: the properties on which the components rely.
package vfstest
