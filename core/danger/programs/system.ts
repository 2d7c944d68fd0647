import { each, type ProgramTable } from '../rules.ts';

/** Programs that change the machine, and builtins that change the shell. */
export const SYSTEM: ProgramTable = {
  ...each(
    'mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk parted sgdisk gdisk blkdiscard hdparm badblocks cryptsetup pvremove vgremove lvremove pvcreate vgcreate lvcreate zpool zfs mdadm diskutil nvme fsck tune2fs resize2fs',
    { adds: ['destructive'], because: 'changes disks' },
  ),
  ...each('shutdown reboot halt poweroff init telinit', { adds: ['destructive'], because: 'stops the machine' }),
  ...each(
    'mount umount swapon swapoff losetup modprobe insmod rmmod depmod sysctl dmesg ldconfig update-alternatives update-grub grub-install efibootmgr',
    { adds: ['system_write'], because: 'changes the system' },
  ),
  ...each('iptables ip6tables nft ufw firewall-cmd route tc brctl nmcli networksetup', {
    adds: ['system_write'],
    because: 'changes the network',
  }),
  ...each(
    'useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd chsh chfn visudo vipw gpasswd newgrp loginctl hostnamectl timedatectl localectl',
    { adds: ['system_write'], because: 'changes accounts or settings of the system' },
  ),
  ...each('kill pkill killall xkill skill renice', { adds: ['system_write'], because: 'changes other processes' }),
  systemctl: {
    options: { '-H --host -M --machine': 'value+network_upload' },
    bare: ['safe'],
    others: ['system_write'],
    verbs: {
      ...each('status list-units list-unit-files is-active is-enabled show cat', {}),
      ...each('enable disable edit mask unmask link reenable preset daemon-reload set-default', {
        adds: ['persistence', 'system_write'],
        because: 'changes what starts by itself',
      }),
      ...each('poweroff reboot halt kexec suspend hibernate', { adds: ['destructive'], because: 'stops the machine' }),
      ...each('start stop restart reload kill', { adds: ['system_write'], because: 'starts or stops services' }),
    },
  },
  ...each('service launchctl rc-update chkconfig update-rc.d systemd-run', {
    adds: ['persistence', 'system_write'],
    because: 'changes what runs by itself',
  }),
  ...each('at batch crontab anacron', { adds: ['persistence', 'system_write'], because: 'makes something run later' }),
  journalctl: { adds: ['system_write'], because: 'reads logs of the whole system' },
  ...each('defaults osascript xdg-open open pbcopy pbpaste xclip xsel say notify-send screencapture', {
    adds: ['system_write'],
    because: 'acts outside of the working directory',
  }),
  ...each('odek', { adds: ['system_write'], because: 'starts odek from inside of odek' }),
  ...each('printenv', { adds: ['system_write'], because: 'prints the environment, with the secrets in it' }),
  ...each('fuser crash history fc bind enable disown suspend dirs pushd popd', { adds: ['unknown'], because: 'is not understood' }),
  cd: { special: 'cd' },
  ...each('pushd', { special: 'cd' }),
  ...each('popd', { special: 'cd' }),
  eval: { special: 'eval' },
  ...each('source .', { special: 'source' }),
  trap: { special: 'trap' },
  alias: { special: 'alias' },
  unalias: {},
  ...each('export declare typeset local readonly', { special: 'declare' }),
  ...each('read mapfile readarray', { special: 'read' }),
  unset: { special: 'unset' },
  set: { special: 'set' },
  compgen: { adds: ['system_write'], because: 'lists variables' },
  complete: { adds: ['code_execution'], because: 'runs commands on completion' },
};
