// Package script finds URLs in scripts, in JSON, and in XML that is data. It reads no syntax and runs nothing.
//
//	strings     "https://host/x", "/a/b.html", also with the escapes \/ \x2F \u002F: see Reader.nextString
//	imports     import x from "./a.js", export * from "./a.js", import("./a.js"), new URL("a", import.meta.url)
//	locations   location = "a.html", location.href = "a", location.replace("a"), window.open("a")
//	handlers    file names such as "a.html", in attributes such as onclick and in javascript: URLs
//	XML         absolute URLs in attributes and texts; in those called href, url, src and so on, relative ones, too
//
// A string must be one URL from quote to quote: nothing is put together.
//
// # Promises
//
// No input causes a panic. Time is linear in the length of the script. A Reader that was used before allocates nothing,
// unless strings have escapes.
//
// # Ownership
//
// A Reader belongs to one goroutine. A Link borrows the script or the Reader, and is valid until Begin.
package script
