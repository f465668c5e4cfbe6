"""Steps of Adam on a net in PyTorch, f64; the faster of its two implementations of Adam counts."""

import numpy as np
import torch


def keep_memory():
    """Lets freed blocks stay with the process. In a new one glibc returns those above 128 KB and takes them again with fresh pages, which is a third of
    PyTorch's time for a step; once a block of up to 32 MB was freed, as happens in any longer run, it no longer does."""
    np.ones(31 << 17)


class Net:
    def __init__(self, widths, rows, seed=1):
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        self.widths = widths
        self.x = torch.from_numpy(rng.standard_normal((rows, widths[0])))
        self.y = (torch.sin(3 * self.x[:, :1]) + self.x[:, 1:2] * self.x[:, 2:3]).expand(-1, widths[-1]).contiguous()
        self.start = self.fresh().state_dict()

    def fresh(self):
        parts = []
        for i, (a, b) in enumerate(zip(self.widths, self.widths[1:])):
            parts += ([torch.nn.ReLU()] if i else []) + [torch.nn.Linear(a, b, dtype=torch.float64)]
        return torch.nn.Sequential(*parts)

    def write(self, folder):
        """What the library starts from: inputs, targets, and the weights, input by input."""
        folder.mkdir(parents=True, exist_ok=True)
        values = list(self.start.values())
        flat = [part for w, b in zip(values[::2], values[1::2]) for part in (w.T.flatten().numpy(), b.numpy())]
        for name, array in [("inputs", self.x.numpy()), ("targets", self.y.numpy()), ("start", np.concatenate(flat))]:
            array.astype("<f8").tofile(folder / name)

    def train(self, epochs, batch, learning_rate, fused):
        """`epochs` passes in mini-batches, or as many steps on all rows when there is no batch."""
        net = self.fresh()
        net.load_state_dict(self.start)
        adam = torch.optim.Adam(net.parameters(), lr=learning_rate, fused=fused)
        loss = torch.nn.functional.mse_loss
        for _ in range(epochs):
            parts = [slice(None)] if batch is None else torch.randperm(len(self.x)).split(batch)
            for part in parts:
                adam.zero_grad()
                loss(net(self.x[part]), self.y[part]).backward()
                adam.step()
        with torch.no_grad():
            return loss(net(self.x), self.y).item()
