// Package hostile plays the servers that a crawler of the open web meets and would rather not: each case is one abuse
// of a protocol, known by an id, that a host commits on purpose or by accident.
//
// A Web is a guest of a simulated world (origin.Web.Invite): it answers for its hosts beside the honest ones, over
// the same addresses, in virtual time (simnet) or on loopback sockets (`orbweaver-bench sim --hostile ID`, for any
// crawler).
//
//	request ---> simweb ---- a host of the world? ---> page
//	                    \--- h01.test, h01-7.test, x.h01.test? ---> Case H01 plays
//
// Case H01 has the host h01.test, as many more as are asked for as h01-N.test, and whatever is below them. catalogue.go
// lists all cases of hostile input that are known, those among them that no server can commit, with what a sound
// crawler makes of each; Cases are those that are played here. The tests hold our own crawler to them:
// TestHostile_H01_... proves case H01, here or in the package whose business it is, and tools/hostile counts them.
//
// # Owners
//
// A case runs in the goroutine of the connection that it plays on and starts none. It notices at the next pause when
// the client has gone.
package hostile
