package main

// open are the cases that are not proven, or not whole, and why. Each is shown in docs/conformance.md.
var open = map[string]string{}
