// Package changes changes settings of a running crawl.
//
// Each setting that can be changed is a row of rows, with the name of its flag. Its value is parsed and checked by the
// tags of its field, as at the start (internal/options), and by the functions that compile filters at the start. All
// faults are reported at once, and then nothing has changed.
//
//	ctl set, POST /set -> control -> Settings.Change:
//	  parse and check all values            draft: what will be in force
//	  count the queued URLs that it drops   Queue; without Request.Yes it ends here if there are any
//	  a line for each setting               Log: logs/changes.log, synced
//	  crawl.toml                            File.KeepValues, so that a resume has the new values
//	  put into force                        draft.apply
//	ctl undo, POST /undo -> Settings.Undo: the same with the former values of the last change
//
// A new setting needs a row here and no line elsewhere, if its component can be changed while it runs.
//
// Queued URLs that the new rules of admission refuse stay in their queues. Each gets the outcome Filtered when its turn
// comes (settings.Live.Passes), without a request. If crawl.toml cannot be written, nothing is changed, and the log has
// a line that takes the change back.
package changes
