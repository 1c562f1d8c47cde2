package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyroute/hyroute/node"
	"github.com/hyroute/hyroute/web"
)

// builtPage is where `make build` puts the page.
const builtPage = "web/dist"

type serveOptions struct {
	listen, domain, web    string
	ice, origins           []string
	publicURL              string
	turn                   turnOptions
	noWeb, unsigned, chat  bool
	offline                time.Duration
	handlers, shutdownTime time.Duration
}

func serveCommand() *cobra.Command {
	o := serveOptions{handlers: 10 * time.Second, shutdownTime: 3 * time.Second}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve a Message Node and the page",
		Example: "  hyroute serve\n" +
			"  hyroute serve --listen :8080 --domain example.org --ice stun:stun.example.org\n" +
			"  hyroute serve --domain example.org --public-url wss://example.org/ws --origins '*.example.org' --turn",
		Args: exactly(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c) },
	}
	f := c.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen at; :8080 lets others in")
	f.StringVar(&o.domain, "domain", "localhost", "the `domain` whose Message Node this is, as it stands in addresses")
	f.StringArrayVar(&o.ice, "ice", nil, "STUN or TURN `server` that clients are told, as stun:host:port or turn:host:port,user,secret; may be repeated")
	f.StringVar(&o.publicURL, "public-url", "", "the `URL` of the WebSocket as clients see it, where a proxy stands before this node: wss://example.org/ws")
	f.StringSliceVar(&o.origins, "origins", nil, "`hosts` whose pages may connect, such as example.org,*.example.org (default: all)")
	o.turn.flags(c)
	f.StringVar(&o.web, "web", "", "serve the page from this `folder`"+pageDefault())
	f.BoolVar(&o.noWeb, "no-web", false, "serve no page")
	f.BoolVar(&o.unsigned, "allow-unsigned", false, "let the predecessor's clients in, which prove nothing")
	f.DurationVar(&o.offline, "offline-after", 40*time.Second, "a runtime that fell silent without a word counts as offline within this `time`")
	f.BoolVar(&o.chat, "verbose", false, "log what clients do")
	return c
}

func pageDefault() string {
	if web.Files() != nil {
		return " (default: the one inside this program)"
	}
	return " (default: " + builtPage + ")"
}

// page is what is served to browsers.
func (o *serveOptions) page() (fs.FS, error) {
	if o.noWeb {
		return nil, nil
	}
	folder := o.web
	if folder == "" {
		if files := web.Files(); files != nil {
			return files, nil
		}
		folder = builtPage
	}
	if _, err := os.Stat(folder + "/index.html"); err != nil {
		return nil, fmt.Errorf("there is no page in %s: build it with `make build`, say where it is with --web, or leave it out with --no-web", folder)
	}
	return os.DirFS(folder), nil
}

func (o *serveOptions) servers() ([]node.ICEServer, error) {
	var list []node.ICEServer
	for _, text := range o.ice {
		parts := strings.Split(text, ",")
		kind, _, _ := strings.Cut(parts[0], ":")
		switch {
		case (kind == "stun" || kind == "stuns") && len(parts) == 1:
			list = append(list, node.ICEServer{URLs: parts})
		case (kind == "turn" || kind == "turns") && len(parts) == 3:
			list = append(list, node.ICEServer{URLs: parts[:1], Username: parts[1], Credential: parts[2]})
		default:
			return nil, usageError{fmt.Errorf("--ice %s: write stun:host:port or turn:host:port,user,secret", text)}
		}
	}
	return list, nil
}

// checkURL refuses a public URL that no client could use.
func (o *serveOptions) checkURL() error {
	if o.publicURL == "" {
		return nil
	}
	u, err := url.Parse(o.publicURL)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return usageError{fmt.Errorf("--public-url %s: write ws://host/ws or wss://host/ws", o.publicURL)}
	}
	return nil
}

func (o *serveOptions) run(c *cobra.Command) error {
	files, err := o.page()
	if err != nil {
		return err
	}
	servers, err := o.servers()
	if err != nil {
		return err
	}
	if o.offline < time.Second {
		return usageError{fmt.Errorf("--offline-after %v: a second is the least", o.offline)}
	}
	level := slog.LevelWarn
	if o.chat {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
	if err := o.checkURL(); err != nil {
		return err
	}
	config := node.Config{
		Domain: o.domain, URL: o.publicURL, Origins: o.origins, ICEServers: servers, Web: files, AllowUnsigned: o.unsigned, Logger: logger,
	}
	relay, err := o.turn.start(o.domain)
	if err != nil {
		return err
	}
	if relay != nil {
		defer relay.Close()
		config.Issuer = relay
	}
	config.Limits.OfflineAfter(o.offline)
	n, err := node.New(config)
	if err != nil {
		return err
	}
	defer n.Close()
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return listenProblem(o.listen, err)
	}
	host := reachable(listener.Addr())
	if files != nil {
		fmt.Fprintf(c.OutOrStdout(), "The page is at http://%s\n", host)
	}
	socket := cmp.Or(o.publicURL, "ws://"+host+"/ws")
	fmt.Fprintf(c.OutOrStdout(), "The Message Node of %s is at %s\n", o.domain, socket)
	if relay != nil {
		fmt.Fprintln(c.OutOrStdout(), describe(relay))
	}
	return o.serve(c.Context(), n, listener, logger)
}

// serve serves until ctx ends.
func (o *serveOptions) serve(ctx context.Context, n *node.Node, listener net.Listener, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           n,
		ReadHeaderTimeout: o.handlers,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	over := make(chan error, 1)
	go func() { over <- server.Serve(listener) }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	// Sockets are told first: the server does not know of them any more.
	n.Close()
	limited, cancel := context.WithTimeout(context.Background(), o.shutdownTime)
	defer cancel()
	if err := server.Shutdown(limited); err != nil {
		return server.Close()
	}
	return nil
}

func listenProblem(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: stop the program that listens there, or choose another address with --listen", address)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s: only the administrator may listen there: choose a port above 1023 with --listen", address)
	}
	return fmt.Errorf("listen at %s: %w", address, err)
}

// reachable is how a browser on this machine reaches what listens at an address. Pages get WebCrypto at localhost, and at no
// bare address.
func reachable(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	if ip := net.ParseIP(host); ip != nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
