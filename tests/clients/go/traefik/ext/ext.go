// Package ext stands for the extension point of Traefik's configuration, a module that its releases
// fill with a local folder and that no registry has. Empty, as in Traefik itself.
package ext

// HTTP extends the configuration of HTTP.
type HTTP struct{}

// DeepCopyInto copies nothing.
func (*HTTP) DeepCopyInto(*HTTP) {}

// Router extends that of a router.
type Router struct{}

// DeepCopyInto copies nothing.
func (*Router) DeepCopyInto(*Router) {}
