"""Running the app: processes, sockets and the gateway that waits for slow clients."""
