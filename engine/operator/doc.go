// Package operator is what an operator asks of a running crawl, and changes in it.
//
// An Operator has the parts of the crawl. Engine.Operator gives it out; engine/control serves it over HTTP. A new
// question or action is a method here, or a type of another package that an Operator makes from its parts. Package
// engine needs no line for it.
//
//	ctl add  -> control -> Operator.AddURLs -> admission.Injector -> a checkpoint
//	ctl rule -> control -> Operator.HostRule -> settings.HostRules.Add, schedule.Distributor.Purge
//	ctl set  -> control -> Operator.Set -> settings.Live
//
// All methods are safe for concurrent use.
package operator
