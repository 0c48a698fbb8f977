// Package faultfs wraps a vfs.FS with scripted errors and delays, to simulate failing and slow disks in tests.
//
// It does not simulate power failures: CrashClone of vfs.Mem does. It is deterministic: a Script selects the failing
// call by operation, name and number, so that a failing test can be repeated.
//
//	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Write, Name: "*.log", From: 3, Count: 1, Err: syscall.EIO})
//	fsys := faultfs.New(vfs.NewMem(1), script)
//
// A failing call has no effect, except a Write with Short bytes: those are written. Changes through a mapping cannot be
// intercepted; Map and its Sync can.
package faultfs
