// Package faultfs wraps a vfs.FS with scripted errors and delays, to play failing and slow disks in tests.
//
// It does not play power cuts (vfs.Mem's CrashClone does) and has no chance in it: a Script says which call fails, by
// operation, name and number, so that a failing test fails again.
//
//	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Write, Name: "*.log", From: 3, Count: 1, Err: syscall.EIO})
//	fsys := faultfs.New(vfs.NewMem(1), script)
//
// A call that fails has not happened, except a Write with Short bytes: those are written. Changes made through a
// mapping cannot be intercepted; Map and its Sync can.
package faultfs
